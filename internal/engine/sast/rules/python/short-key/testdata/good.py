from cryptography.hazmat.primitives.asymmetric import ec, rsa

# ok: short-key
key = rsa.generate_private_key(public_exponent=65537, key_size=3072)
# ok: short-key
other = ec.generate_private_key(ec.SECP256R1())
