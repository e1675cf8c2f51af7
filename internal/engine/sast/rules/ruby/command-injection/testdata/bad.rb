class HostsController < ApplicationController
  def ping
    # ruleid: command-injection
    system("ping -c 1 #{params[:host]}")
  end

  def more
    file = params[:file]
    # ruleid: command-injection
    IO.popen("convert " + file)
  end
end
