package org.acme.web;

import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.servlet.ModelAndView;

@Controller
class Views {
  @GetMapping("/next")
  String next(String address) {
    // ruleid: open-redirect
    return "redirect:" + address;
  }

  @GetMapping("/item")
  String item(String id) {
    // ok: open-redirect
    return "redirect:/items/" + id;
  }

  @GetMapping("/model")
  ModelAndView model(String address) {
    // ruleid: open-redirect
    return new ModelAndView("redirect:" + address);
  }
}
