package org.acme.fetch;

import com.zaxxer.hikari.HikariConfig;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.sql.DriverManager;
import javax.servlet.http.HttpServletRequest;
import org.apache.hc.client5.http.async.methods.SimpleRequestBuilder;
import org.apache.hc.client5.http.classic.methods.ClassicHttpRequests;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.io.support.ClassicRequestBuilder;
import org.apache.http.client.methods.HttpPost;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.message.BasicHttpRequest;
import org.springframework.http.HttpMethod;
import org.springframework.http.RequestEntity;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.reactive.function.client.WebClient;

class Clients {
  private final RestTemplate rest = new RestTemplate();

  // The variable of a template stands where the host is, or behind it.
  void templates(HttpServletRequest request) {
    String tenant = request.getParameter("tenant");
    // ruleid: server-side-request-forgery
    rest.getForObject("https://{tenant}.acme.org/health", String.class, tenant);
    // ruleid: server-side-request-forgery
    rest.exchange("{base}/health", HttpMethod.GET, null, String.class, tenant);
    // ok: server-side-request-forgery
    rest.getForObject("https://acme.org/{tenant}/health", String.class, tenant);
  }

  void entity(HttpServletRequest request) throws Exception {
    URI uri = new URI(request.getParameter("uri"));
    // ruleid: server-side-request-forgery
    rest.exchange(new RequestEntity<>("x", HttpMethod.POST, uri), String.class);
  }

  void reactive(HttpServletRequest request) {
    String base = request.getParameter("base");
    // ruleid: server-side-request-forgery
    WebClient client = WebClient.builder().defaultHeader("Accept", "text/plain").baseUrl(base).build();
    // ruleid: server-side-request-forgery
    client.get().uri(request.getParameter("next")).retrieve();
    // ok: server-side-request-forgery
    client.get().uri("https://acme.org/items/" + base).retrieve();
  }

  void apache(HttpServletRequest request) throws Exception {
    String address = request.getParameter("address");
    HttpPost post = new HttpPost();
    // ruleid: server-side-request-forgery
    post.setURI(new URI(address));
    CloseableHttpClient client = HttpClients.createDefault();
    // ruleid: server-side-request-forgery
    client.execute(new org.apache.http.HttpHost(request.getParameter("host")), new BasicHttpRequest("GET", "/"));
    // ruleid: server-side-request-forgery
    ClassicHttpRequests.get(address);
    // ruleid: server-side-request-forgery
    SimpleRequestBuilder.get().setHttpHost(new HttpHost(request.getParameter("peer")));
    // ruleid: server-side-request-forgery
    ClassicRequestBuilder.put(address).build();
    // ok: server-side-request-forgery
    ClassicHttpRequests.get("https://acme.org/" + address);
  }

  void databases(HttpServletRequest request) throws Exception {
    HikariConfig config = new HikariConfig();
    // ruleid: server-side-request-forgery
    config.setJdbcUrl(request.getParameter("jdbc"));
    // ok: server-side-request-forgery
    config.setUsername(request.getParameter("user"));
    // ok: server-side-request-forgery
    DriverManager.getConnection("jdbc:postgresql://db.acme.org/" + request.getParameter("name"));
  }

  ClassLoader plugins(HttpServletRequest request) throws Exception {
    URL jar = new URL(request.getParameter("jar"));
    // ruleid: server-side-request-forgery
    return new URLClassLoader(new URL[] {jar});
  }
}
