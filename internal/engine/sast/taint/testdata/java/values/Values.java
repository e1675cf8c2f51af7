import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

class Values extends HttpServlet {
  private final Runtime runtime = Runtime.getRuntime();

  record Pair(String left, String right) {}

  enum Colour {
    RED
  }

  static class Worker extends Thread {
    private final String command;

    Worker(String command) {
      this.command = command;
    }

    public void run() {
      try {
        Runtime.getRuntime().exec(command); // want command
      } catch (Exception e) {
        return;
      }
    }
  }

  protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
    String v = request.getParameter("v");
    Pair pair = new Pair("true", v);
    runtime.exec(pair.left());
    runtime.exec(pair.right()); // want command
    new Worker(v).start();
    runtime.exec(Colour.valueOf(v).name());
    Map<String, String> map = Map.of("a", v, "b", "true");
    runtime.exec(map.get("a")); // want command
    runtime.exec(map.get("b"));
    runtime.exec(Stream.of(v).map(String::trim).collect(Collectors.toList()).get(0)); // want command
    runtime.exec(Optional.ofNullable(v).map(x -> "ls " + x).orElse("true")); // want command
    Supplier<String> supplier = () -> v;
    runtime.exec(supplier.get()); // want command
    CompletableFuture.supplyAsync(() -> v).thenAccept(x -> run(x));
    Properties properties = new Properties();
    properties.setProperty("a", v);
    runtime.exec(properties.getProperty("a")); // want command
    runtime.exec(properties.getProperty("b", "true"));
  }

  private void run(String x) {
    try {
      runtime.exec(x); // want command
    } catch (Exception e) {
      return;
    }
  }
}
