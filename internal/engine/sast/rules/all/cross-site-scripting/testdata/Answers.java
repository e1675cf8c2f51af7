package org.acme.web;

import javax.ws.rs.GET;
import javax.ws.rs.POST;
import javax.ws.rs.Path;
import javax.ws.rs.Produces;
import javax.ws.rs.QueryParam;
import javax.ws.rs.core.MediaType;
import javax.ws.rs.core.Response;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.util.HtmlUtils;

// Whether an answer is a page is said by annotations, by calls, or by nobody.
class Note {
  private String text;

  public String getText() {
    return text;
  }
}

@RestController
class Notes {
  @GetMapping("/plain")
  String plain(String text) {
    // ruleid: cross-site-scripting
    return "<p>" + text;
  }

  @GetMapping(value = "/json", produces = "application/json")
  String json(String text) {
    // ok: cross-site-scripting
    return text;
  }

  @GetMapping("/bean")
  String bean(Note note) {
    // ruleid: cross-site-scripting
    return note.getText();
  }

  @GetMapping("/object")
  Note object(Note note) {
    // ok: cross-site-scripting
    return note;
  }

  @GetMapping("/clean")
  String clean(String text) {
    // ok: cross-site-scripting
    return HtmlUtils.htmlEscape(text);
  }

  @GetMapping("/entity")
  ResponseEntity<String> entity(String text) {
    if (text.isEmpty()) {
      // ok: cross-site-scripting
      return ResponseEntity.ok().contentType(org.springframework.http.MediaType.TEXT_PLAIN).body(text);
    }
    if (text.length() > 9) {
      // ruleid: cross-site-scripting
      return new ResponseEntity<>(text, HttpStatus.OK);
    }
    // ruleid: cross-site-scripting
    return ResponseEntity.status(404).body("no note " + text);
  }

  // Nobody outside calls this one.
  ResponseEntity<String> helper(String text) {
    // ok: cross-site-scripting
    return ResponseEntity.ok(text);
  }
}

@RestController
@RequestMapping(produces = {"application/json", "text/csv"})
class Exports {
  @GetMapping("/a")
  String exported(String text) {
    // ok: cross-site-scripting
    return text;
  }

  @GetMapping(value = "/b", produces = {"text/html", "text/csv"})
  String shown(String text) {
    // ruleid: cross-site-scripting
    return text;
  }
}

@Path("/notes")
@Produces(MediaType.TEXT_HTML)
class Pages {
  @GET
  public Response show(@QueryParam("text") String text) {
    // ruleid: cross-site-scripting
    return Response.ok(text).build();
  }

  @POST
  public Response body(String body) {
    // ruleid: cross-site-scripting
    return Response.status(400).entity("not " + body).build();
  }

  @GET
  @Path("/late")
  public Response late(@QueryParam("text") String text) {
    // ok: cross-site-scripting
    return Response.status(400).entity(text).type(MediaType.APPLICATION_JSON).build();
  }

  @GET
  @Path("/json")
  @Produces({MediaType.APPLICATION_JSON, MediaType.TEXT_PLAIN})
  public String json(@QueryParam("text") String text) {
    // ok: cross-site-scripting
    return text;
  }

  @GET
  @Path("/bean")
  public Response bean(Note note) {
    // ok: cross-site-scripting
    return Response.ok(note).build();
  }
}
