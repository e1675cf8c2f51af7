require "sinatra"
require "nokogiri"
require "rails-html-sanitizer"

get "/preview" do
  Rails::Html::SafeListSanitizer.new.sanitize(params["text"])
end

post "/catalogue" do
  Nokogiri::XML(request.body.read).css("book").map(&:text).join("\n")
end
