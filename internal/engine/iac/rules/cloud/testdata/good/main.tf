variable "networks" {
  type = list(string)
}

resource "aws_kms_key" "logs" {
  description         = "logs"
  enable_key_rotation = true
}

# Nobody knows yet who may come in.
resource "aws_security_group" "shell" {
  description = "shells"

  ingress {
    description = "shells"
    protocol    = "tcp"
    from_port   = 22
    to_port     = 22
    cidr_blocks = var.networks
  }
}

resource "aws_network_interface" "shell" {
  security_groups = [aws_security_group.shell.id]
}
