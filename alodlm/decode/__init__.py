"""The window loop: settings, commit and halt policy, window state, caches, decoders."""
