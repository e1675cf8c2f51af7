class SearchController < ApplicationController
  def show
    @title = "Results for #{params[:q]}"
  end

  def other
    @safe = "<b>#{h(params[:name])}</b>".html_safe
    "<br>".html_safe
  end
end
