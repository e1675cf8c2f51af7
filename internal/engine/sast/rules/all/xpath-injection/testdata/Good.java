import javax.xml.xpath.*;
import javax.servlet.http.*;

class Good extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        XPath x = XPathFactory.newInstance().newXPath();
        x.setXPathVariableResolver(n -> v);
        x.evaluate("/users/user[@name=$name]", (Object) null);
    }
}
