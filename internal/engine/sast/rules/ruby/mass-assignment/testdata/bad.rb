class UsersController < ApplicationController
  def update
    # ruleid: mass-assignment
    @user.update(params.permit!)
  end
end
