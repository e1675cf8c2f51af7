from cryptography.hazmat.primitives.asymmetric import ec, rsa

# ruleid: short-key
key = rsa.generate_private_key(public_exponent=65537, key_size=1024)
# ruleid: short-key
other = ec.generate_private_key(ec.SECP192R1())
