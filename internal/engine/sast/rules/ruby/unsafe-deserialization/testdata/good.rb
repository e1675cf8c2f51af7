class CartController < ApplicationController
  def show
    @cart = JSON.parse(cookies[:cart])
  end

  def other
    YAML.safe_load(params[:text])
    Marshal.load(File.binread("state"))
  end
end
