package org.acme.audit;

import com.google.common.flogger.FluentLogger;
import javax.servlet.http.HttpServletRequest;
import org.apache.logging.log4j.LogManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class Libraries {
  private static final Logger log = LoggerFactory.getLogger(Libraries.class);
  private static final FluentLogger flogger = FluentLogger.forEnclosingClass();
  private static final org.apache.logging.log4j.Logger log4j = LogManager.getLogger();
  private static final org.jboss.logging.Logger jboss = org.jboss.logging.Logger.getLogger("audit");
  private final HttpServletRequest request;

  Libraries(HttpServletRequest request) {
    this.request = request;
  }

  // A method and a variable may have one name.
  private String user() {
    return request.getParameter("user");
  }

  void fluent() {
    String user = user();
    // ruleid: log-injection
    log.atInfo().addArgument(user).log("signed in: {}");
    // ruleid: log-injection
    flogger.atWarning().log("signed in: %s", user);
    // ruleid: log-injection
    log4j.atDebug().log("signed in: {}", user);
    // ruleid: log-injection
    jboss.infov("signed in: {0}", user);
    // ruleid: log-injection
    android.util.Log.d("audit", user);
  }

  void cleaned() {
    String user = user();
    // ok: log-injection
    log.info(user.replaceAll("[\\r\\n]", "_"));
    // ok: log-injection
    log.info(user.replaceAll("[^A-Za-z0-9]", ""));
    // ok: log-injection
    log.info(user.replace('\n', ' '));
    // ruleid: log-injection
    log.info(user.replaceAll("name", ""));
    // ruleid: log-injection
    log.info(user.replaceAll("[^A-Za-z\n]", ""));
    // ruleid: log-injection
    log.info(user.replace("\t", "\n"));
    if (!user.contains("\n")) {
      // ok: log-injection
      log.info(user);
    }
  }
}
