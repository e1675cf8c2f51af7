package org.acme.web;

import com.opensymphony.xwork2.ActionSupport;
import io.grpc.stub.StreamObserver;

public class Lookup extends ActionSupport {
  private String host;
  private String label = "a";

  public void setHost(String host) {
    this.host = host;
  }

  @Override
  public String execute() throws Exception {
    // ruleid: command-injection
    Runtime.getRuntime().exec("ping " + host);
    // ok: command-injection
    Runtime.getRuntime().exec("ping " + label);
    return SUCCESS;
  }
}

class Service extends org.acme.proto.PingGrpc.PingImplBase {
  @Override
  public void ping(PingRequest request, StreamObserver<PingReply> answers) {
    try {
      // ruleid: command-injection
      Runtime.getRuntime().exec("ping " + request.getHost());
    } catch (java.io.IOException e) {
      answers.onError(e);
    }
  }
}
