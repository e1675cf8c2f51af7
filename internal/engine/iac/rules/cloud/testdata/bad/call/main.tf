module "key" {
  source = "../key"
  rotate = false
}
