package shop;
import javax.servlet.http.*;
public class Chain extends HttpServlet {
  public class C {
    	private String str;
    	private C next;
    	public String getData(){return this.str;}
    	public void setData(String str){this.str = str;}
    	public void setNext(C next){this.next = next;}
  }
  protected void doGet(HttpServletRequest req, HttpServletResponse resp) throws java.io.IOException {
       String name = req.getParameter("x");
       C c = new C();
       C head = c;
       c.setData(name);
       resp.getWriter().println(c.getData()); // want html
       resp.getWriter().println(head.getData()); // want html
  }
  protected void doPost(HttpServletRequest req, HttpServletResponse resp) throws java.io.IOException {
       String name = req.getParameter("x");
       C c = new C();
       C head = c;
       for(int i = 0; i < 1600; i++){
    	   C next = new C();    	   
    	   c.setNext(next);
    	   c = next;
       }
       c.setData(name);
       resp.getWriter().println(c.getData()); // want html
       resp.getWriter().println(head.getData()); // want html
       c = head;
       while(c != null) {
           resp.getWriter().println(c.getData()); // want html
    	   c = c.next;
       }
  }
}
