class OrdersController < ApplicationController
  def index
    @orders = Order.where("customer = ?", params[:customer])
  end

  def one
    @orders = Order.where("id = #{params[:id].to_i}")
    @all = Order.where("state = 'open'")
  end
end
