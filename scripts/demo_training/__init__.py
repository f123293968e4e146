"""What `train_demo_checkpoint.py` is made of: items, tokenizer, network, objective and the folder it writes."""
