variable "rotate" {
  default = true
}

resource "aws_kms_key" "k" {
  enable_key_rotation = var.rotate # want "module.key.aws_kms_key.k: KMS key rotation is disabled"
}
