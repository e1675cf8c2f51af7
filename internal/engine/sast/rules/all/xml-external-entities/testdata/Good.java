import java.io.InputStream;
import javax.servlet.http.*;
import javax.xml.parsers.*;
import javax.xml.stream.XMLInputFactory;

class Good extends HttpServlet {
    private final DocumentBuilder builder;
    private final XMLInputFactory input;

    Good() throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        builder = factory.newDocumentBuilder();
        input = XMLInputFactory.newInstance();
        input.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    }

    private static SAXParser parser() throws Exception {
        SAXParserFactory factory = SAXParserFactory.newInstance();
        factory.setFeature("http://xml.org/sax/features/external-general-entities", false);
        return factory.newSAXParser();
    }

    private static void harden(DocumentBuilderFactory factory) throws Exception {
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
    }

    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws Exception {
        InputStream body = request.getInputStream();
        builder.parse(body);
        input.createXMLStreamReader(body);
        SAXParser sax = parser();
        sax.parse(body, new org.xml.sax.helpers.DefaultHandler());
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        harden(factory);
        factory.newDocumentBuilder().parse(body);
    }
}
