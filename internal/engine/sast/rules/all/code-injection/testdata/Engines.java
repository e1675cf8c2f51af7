package org.acme.scripts;

import groovy.util.GroovyScriptEngine;
import javax.servlet.http.HttpServletRequest;
import org.graalvm.polyglot.Context;
import org.mozilla.javascript.Scriptable;

class Engines {
  void polyglot(HttpServletRequest request, Context context) {
    // ruleid: code-injection
    context.eval("js", request.getParameter("script"));
    // ok: code-injection
    context.eval("js", "1 + 1");
  }

  void groovy(HttpServletRequest request, GroovyScriptEngine engine) throws Exception {
    // ruleid: code-injection
    engine.run(request.getParameter("script"), "");
  }

  void rhino(HttpServletRequest request, org.mozilla.javascript.Context context, Scriptable scope) throws Exception {
    // ruleid: code-injection
    context.compileReader(scope, request.getReader(), "input", 1, null);
  }
}
