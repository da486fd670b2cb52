from prices import price_of
from rules import discount


def total(items, customer):
    full = sum(price_of(item) for item in items)
    return full - discount(full, customer)
