import javax.xml.xpath.*;
import javax.servlet.http.*;

class Bad extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        XPath x = XPathFactory.newInstance().newXPath();
        // ruleid: xpath-injection
        x.evaluate("/users/user[@name='" + v + "']", (Object) null);
    }
}
