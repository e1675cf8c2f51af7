class ReportsController < ApplicationController
  TYPES = { "sales" => SalesReport, "stock" => StockReport }.freeze

  def show
    @report = TYPES.fetch("sales").new
  end

  def run
    @user.send(:rename, params[:name])
    "Order".constantize
  end
end
