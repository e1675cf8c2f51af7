import org.springframework.expression.spel.standard.SpelExpressionParser;
import javax.servlet.http.*;

class Good extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        new SpelExpressionParser().parseExpression("name").getValue();
    }
}
