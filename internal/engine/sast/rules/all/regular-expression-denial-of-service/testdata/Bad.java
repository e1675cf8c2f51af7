import java.util.regex.Pattern;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

public class Bad extends HttpServlet {
  private static final Pattern NAME = Pattern.compile("^(\\w+\\s?)*$");

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response) throws java.io.IOException {
    String name = request.getParameter("name");
    // ruleid: regular-expression-denial-of-service
    boolean ok = NAME.matcher(name).matches();
    // ruleid: regular-expression-denial-of-service
    ok = ok && name.matches("(a|b|ab)*c");
    response.setStatus(ok ? 200 : 400);
  }
}
