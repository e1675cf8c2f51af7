package org.acme.files;

import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.multipart.CompletedFileUpload;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.FullHttpRequest;
import io.vertx.ext.web.FileUpload;
import io.vertx.ext.web.RoutingContext;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import org.glassfish.jersey.media.multipart.FormDataContentDisposition;
import org.jboss.resteasy.reactive.RestQuery;

class Static {
  void handle(RoutingContext context) {
    // ruleid: path-traversal
    context.response().sendFile("web/" + context.normalisedPath());
    // ok: path-traversal
    context.response().sendFile("web/index.html");
  }

  void upload(FileUpload upload) throws Exception {
    // ruleid: path-traversal
    new FileOutputStream("uploads/" + upload.fileName());
    // ok: path-traversal
    new FileOutputStream("uploads/" + new File(upload.fileName()).getName());
  }
}

class Read extends SimpleChannelInboundHandler<FullHttpRequest> {
  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) throws Exception {
    // ruleid: path-traversal
    new FileInputStream("web" + request.uri());
  }
}

class Resources {
  @Get("/{name}")
  void get(@PathVariable String name) throws Exception {
    // ruleid: path-traversal
    new FileInputStream("web/" + name);
  }

  void put(CompletedFileUpload file) throws Exception {
    // ruleid: path-traversal
    new FileOutputStream("uploads/" + file.getFilename());
  }

  void query(@RestQuery String name) throws Exception {
    // ruleid: path-traversal
    new FileInputStream("web/" + name);
  }

  void form(FormDataContentDisposition part) throws Exception {
    // ruleid: path-traversal
    new FileOutputStream("uploads/" + part.getFileName());
  }
}
