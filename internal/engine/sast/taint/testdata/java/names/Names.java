import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

// A variable, a field and a method may have one name.
class Names extends HttpServlet {
  private String command = "true";

  private String command(HttpServletRequest request) {
    return request.getParameter("c");
  }

  protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
    Runtime.getRuntime().exec(command);
    String other = command;
    Runtime.getRuntime().exec(other);
    String command = command(request);
    Runtime.getRuntime().exec(command); // want command
    Runtime.getRuntime().exec(this.command);
  }
}
