import java.io.InputStream;
import javax.servlet.http.*;
import javax.xml.parsers.*;
import javax.xml.stream.*;

class Bad extends HttpServlet {
    private final DocumentBuilder builder;

    Bad() throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", false);
        builder = factory.newDocumentBuilder();
    }

    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws Exception {
        InputStream body = request.getInputStream();
        // ruleid: xml-external-entities
        builder.parse(body);
        DocumentBuilderFactory hard = DocumentBuilderFactory.newInstance();
        hard.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        DocumentBuilderFactory soft = DocumentBuilderFactory.newInstance();
        // ruleid: xml-external-entities
        soft.newDocumentBuilder().parse(body);
    }
}
