import org.springframework.expression.spel.standard.SpelExpressionParser;
import javax.servlet.http.*;

class Bad extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        // ruleid: expression-language-injection
        new SpelExpressionParser().parseExpression(v).getValue();
    }
}
