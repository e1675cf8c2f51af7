class OrdersController < ApplicationController
  def index
    # ruleid: sql-injection
    @orders = Order.where("customer = '#{params[:customer]}'")
  end

  def sorted
    column = params[:sort]
    # ruleid: sql-injection
    @orders = Order.order("#{column} DESC")
  end
end
