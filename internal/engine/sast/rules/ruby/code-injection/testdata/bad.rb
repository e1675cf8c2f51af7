class ReportsController < ApplicationController
  def show
    # ruleid: code-injection
    @report = params[:type].constantize.new
  end

  def run
    # ruleid: code-injection
    @user.send(params[:method])
    # ruleid: code-injection
    eval(params[:formula])
  end
end
