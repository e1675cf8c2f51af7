class CartController < ApplicationController
  def show
    # ruleid: unsafe-deserialization
    @cart = Marshal.load(Base64.decode64(cookies[:cart]))
  end
end
