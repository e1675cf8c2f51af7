class PaymentsController < ApplicationController
  # ruleid: csrf-disabled
  skip_before_action :verify_authenticity_token
end
