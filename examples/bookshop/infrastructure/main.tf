resource "aws_accessanalyzer_analyzer" "bookshop" {
  analyzer_name = "bookshop"
  tags          = { application = "bookshop" }
}

# Vulnerable: everybody may read and write the covers.
resource "aws_s3_bucket" "covers" {
  bucket = "bookshop-covers"
  acl    = "public-read-write"
  tags   = { application = "bookshop" }
}

# Sound: the invoices are private, encrypted and versioned.
resource "aws_s3_bucket" "invoices" {
  bucket = "bookshop-invoices"
  tags   = { application = "bookshop" }
}

resource "aws_s3_bucket_public_access_block" "invoices" {
  bucket                  = aws_s3_bucket.invoices.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_server_side_encryption_configuration" "invoices" {
  bucket = aws_s3_bucket.invoices.id
  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm     = "aws:kms"
      kms_master_key_id = "alias/bookshop"
    }
    bucket_key_enabled = true
  }
}

resource "aws_s3_bucket_versioning" "invoices" {
  bucket = aws_s3_bucket.invoices.id
  versioning_configuration {
    status     = "Enabled"
    mfa_delete = "Enabled"
  }
}

resource "aws_s3_bucket_logging" "invoices" {
  bucket        = aws_s3_bucket.invoices.id
  target_bucket = "bookshop-logs"
  target_prefix = "invoices/"
}
