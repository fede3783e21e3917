"""Do releases together stay within the limit?"""
