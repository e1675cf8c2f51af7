class HostsController < ApplicationController
  def ping
    system("ping", "-c", "1", params[:host])
  end

  def more
    system("convert #{params[:file].shellescape}")
    system("uptime")
  end
end
