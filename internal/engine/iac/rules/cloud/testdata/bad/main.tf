variable "rotate" {
  default = false
}

locals {
  ports = [22, 443]
}

resource "aws_kms_key" "logs" {
  description         = "logs"
  enable_key_rotation = var.rotate # want "aws_kms_key.logs: KMS key rotation is disabled"
}

resource "aws_security_group" "shell" {
  description = "shells"

  dynamic "ingress" {
    for_each = local.ports
    content {
      description = "" # want "aws-group-description-ingress"
      protocol    = "tcp"
      from_port   = ingress.value
      to_port     = ingress.value
      cidr_blocks = ["0.0.0.0/0"] # want "aws-world-access-ssh"
    }
  }
}

resource "aws_network_interface" "shell" {
  security_groups = [aws_security_group.shell.id]
}
