import javax.xml.XMLConstants;
import javax.xml.parsers.*;

class Reader {
    DocumentBuilderFactory factory() throws ParserConfigurationException {
        DocumentBuilderFactory f = DocumentBuilderFactory.newInstance();
        // ruleid: xml-protection-off
        f.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, false);
        return f;
    }
}
