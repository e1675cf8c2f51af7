package org.acme.components;

import javax.faces.context.ExternalContext;
import javax.faces.context.FacesContext;
import javax.faces.context.ResponseWriter;
import javax.portlet.RenderRequest;
import javax.portlet.RenderResponse;
import javax.servlet.jsp.tagext.TagSupport;
import org.kohsuke.stapler.QueryParameter;
import hudson.Util;
import hudson.util.FormValidation;

class Components {
  void encode(FacesContext context) throws Exception {
    ResponseWriter writer = context.getResponseWriter();
    String name = context.getExternalContext().getRequestParameterMap().get("name");
    // ruleid: cross-site-scripting
    writer.write("<b>" + name + "</b>");
    // ok: cross-site-scripting
    writer.writeText(name, null);
  }

  void portlet(RenderRequest request, RenderResponse response) throws Exception {
    // ruleid: cross-site-scripting
    response.getWriter().println(request.getParameter("name"));
  }

  FormValidation doCheckName(@QueryParameter String value) {
    if (value.isEmpty()) {
      // ruleid: cross-site-scripting
      return FormValidation.errorWithMarkup("no job <b>" + value + "</b>");
    }
    // ok: cross-site-scripting
    return FormValidation.errorWithMarkup("no job <b>" + Util.escape(value) + "</b>");
  }
}

class Tag extends TagSupport {
  @Override
  public int doStartTag() {
    try {
      String name = pageContext.getRequest().getParameter("name");
      // ruleid: cross-site-scripting
      pageContext.getOut().print(name);
    } catch (java.io.IOException e) {
      return SKIP_BODY;
    }
    return EVAL_PAGE;
  }
}
