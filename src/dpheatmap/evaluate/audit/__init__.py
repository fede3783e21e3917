"""An audit of this installation: how much does a release tell about one person, measured from outside?"""
