class SessionsController < ApplicationController
  def create
    # ruleid: open-redirect
    redirect_to params[:return_to]
  end
end
