# The storage of the shop.
resource "aws_db_instance" "shop" {
  engine            = "postgres"
  instance_class    = "db.t4g.small" # small
  allocated_storage = 20
  storage_encrypted = false # for now
  publicly_accessible = var.public
}

resource "aws_instance" "web" {
  ami           = "ami-0abc"
  instance_type = "t3.small"

  metadata_options {
    http_endpoint = "enabled"
    http_tokens   = "optional"
  }

  root_block_device {
    volume_size = 20
  }
}

resource "aws_ebs_volume" "data" {
  availability_zone = "eu-central-1a"
  size              = 40
  tags = {
    Name = "data"
  }
}

resource "google_compute_subnetwork" "inner" {
  name          = "inner"
  ip_cidr_range = "10.2.0.0/16"
  network       = "main"
}

resource "aws_s3_bucket_public_access_block" "data" {
  bucket = "data"

  block_public_acls   = false
  block_public_policy = var.block
}
