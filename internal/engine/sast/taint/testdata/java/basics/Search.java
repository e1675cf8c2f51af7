package shop;
import javax.servlet.http.*;
import java.util.*;
public class Search extends HttpServlet {
  private static final String FIX = "abc";
  protected void doGet(HttpServletRequest req, HttpServletResponse resp) throws java.io.IOException {
    String s = req.getParameter("a");
    java.sql.Connection c = java.sql.DriverManager.getConnection("x");
    java.sql.Statement st = c.createStatement();
    st.executeQuery("select " + s); // want sql
    String t = help(s);
    st.executeQuery(t); // want sql
    Map<String,String> m = new HashMap<>();
    m.put("k", s);
    m.put("l", "ok");
    st.executeQuery(m.get("l"));
    st.executeQuery(m.get("k")); // want sql
    List<String> l = new ArrayList<>();
    l.add("safe"); l.add(s); l.add("more");
    l.remove(0);
    st.executeQuery(l.get(0)); // want sql
    st.executeQuery(l.get(1));
    int num = 106;
    String bar = (7 * 42) - num > 200 ? "This" : s;
    st.executeQuery(bar); // want sql
    String bar2 = (7 * 18) + num > 200 ? "This" : s;
    st.executeQuery(bar2);
    char ch = "ABC".charAt(1);
    switch (ch) { case 'A': bar = s; break; case 'B': bar = "bob"; break; default: bar = s; }
    st.executeQuery(bar);
    StringBuilder sb = new StringBuilder("x");
    sb.append(s);
    st.executeQuery(sb.toString()); // want sql
    resp.getWriter().println(s); // want html
    Box b = new Box(); b.v = s; Box d = b; Box e = new Box();
    st.executeQuery(d.v); // want sql
    st.executeQuery(e.v);
    b.set("x");
    st.executeQuery(d.get());
    Runnable r = () -> { try { resp.getWriter().println(s); } catch (Exception ex) {} }; // want html
    new Thread(r).start();
    if (s.matches("[a-z]+")) { st.executeQuery(s); }
    st.executeQuery(FIX + Integer.parseInt(s));
    F.it(st, s);
  }
  String help(String p) { return p.toUpperCase(); }
}
class Box { String v; void set(String x) { this.v = x; } String get() { return v; } }
class F { static void it(java.sql.Statement st, String q) throws Exception { st.executeQuery(q); } } // want sql
