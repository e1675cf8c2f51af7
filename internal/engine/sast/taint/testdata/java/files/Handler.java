package shop;

import javax.servlet.http.*;

public class Handler extends HttpServlet {
  private final Store store = new Store();
  protected void doPost(HttpServletRequest request, HttpServletResponse response) throws Exception {
    String name = request.getParameter("name");
    store.find(name);
    store.count(7);
  }
}
