"""What the page may ask, a module a topic: each question is read, checked, and handed to what answers it."""
