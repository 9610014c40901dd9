"""One rule table per family of resource types: what is compared, how, and what a change costs."""
