import javax.script.*;
import javax.servlet.http.*;

class Good extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        ScriptEngine e = new ScriptEngineManager().getEngineByName("js");
        e.eval("1 + 1");
    }
}
