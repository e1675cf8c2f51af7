package org.acme.forms;

import javax.validation.ConstraintValidator;
import javax.validation.ConstraintValidatorContext;
import org.apache.commons.jexl3.JexlBuilder;
import org.apache.commons.jexl3.JexlEngine;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.messaging.Message;

// The template of a message is evaluated.
class Validator implements ConstraintValidator<Zone, String> {
  @Override
  public boolean isValid(String zone, ConstraintValidatorContext context) {
    // ruleid: expression-language-injection
    context.buildConstraintViolationWithTemplate("no such zone: " + zone).addConstraintViolation();
    // ok: expression-language-injection
    context.buildConstraintViolationWithTemplate("{zone.unknown}").addConstraintViolation();
    return false;
  }
}

class Router {
  private final SpelExpressionParser parser = new SpelExpressionParser();

  Object route(Message<?> message) {
    String expression = (String) message.getHeaders().get("route");
    // ruleid: expression-language-injection
    return parser.parseExpression(expression).getValue();
  }

  Object evaluate(Message<String> message) {
    JexlEngine engine = new JexlBuilder().create();
    // ok: expression-language-injection
    engine.createExpression("a + b").evaluate(null);
    // ruleid: expression-language-injection
    return engine.createExpression(message.getPayload()).evaluate(null);
  }
}
