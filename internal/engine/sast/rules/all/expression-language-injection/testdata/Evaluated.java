package org.acme.rules;

import java.io.Serializable;
import java.net.Socket;
import java.util.Map;
import ognl.Node;
import ognl.Ognl;
import org.apache.commons.jexl3.JexlBuilder;
import org.apache.commons.jexl3.JexlScript;
import org.mvel2.MVEL;
import org.mvel2.compiler.CompiledExpression;
import org.mvel2.compiler.ExpressionCompiler;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.expression.spel.support.StandardEvaluationContext;

// What is parsed does nothing until it is evaluated, and with what matters.
class Evaluated {
  private String read(Socket socket) throws Exception {
    byte[] bytes = new byte[512];
    int n = socket.getInputStream().read(bytes);
    return new String(bytes, 0, n);
  }

  Object spring(Socket socket, Object bean) throws Exception {
    // ok: expression-language-injection
    Expression expression = new SpelExpressionParser().parseExpression(read(socket));
    SimpleEvaluationContext simple = SimpleEvaluationContext.forReadOnlyDataBinding().build();
    // ok: expression-language-injection
    expression.getValue(simple, bean);
    // ruleid: expression-language-injection
    return expression.getValue(new StandardEvaluationContext(bean));
  }

  Object mvel(Socket socket) throws Exception {
    Serializable compiled = MVEL.compileExpression(read(socket));
    // ruleid: expression-language-injection
    MVEL.executeExpression(compiled);
    CompiledExpression direct = new ExpressionCompiler(read(socket)).compile();
    // ruleid: expression-language-injection
    return direct.getValue(null, null);
  }

  Object ognl(Socket socket, Map<String, Object> context) throws Exception {
    Node tree = (Node) Ognl.parseExpression(read(socket));
    // ruleid: expression-language-injection
    tree.getValue(null, context);
    // ok: expression-language-injection
    Ognl.getValue("owner.name", context, read(socket));
    // ruleid: expression-language-injection
    return Ognl.getValue(tree, context, null);
  }

  Object jexl(Socket socket) throws Exception {
    JexlScript script = new JexlBuilder().create().createScript(read(socket));
    // ruleid: expression-language-injection
    return script.execute(null);
  }
}
