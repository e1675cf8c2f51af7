import javax.script.*;
import javax.servlet.http.*;

class Bad extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        ScriptEngine e = new ScriptEngineManager().getEngineByName("js");
        // ruleid: code-injection
        e.eval(v);
    }
}
