class SessionsController < ApplicationController
  def create
    redirect_to root_path
  end

  def other
    redirect_to url_from(params[:return_to])
    redirect_to order_path(params[:id])
  end
end
