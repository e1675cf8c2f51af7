class SearchController < ApplicationController
  def show
    # ruleid: cross-site-scripting
    @title = "Results for #{params[:q]}".html_safe
  end

  def other
    # ruleid: cross-site-scripting
    render inline: "<b>" + params[:name] + "</b>"
  end
end
