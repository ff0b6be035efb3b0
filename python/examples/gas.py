# SPDX-License-Identifier: MIT
"""Hard spheres in a periodic box, event by event; the pressure beside Carnahan and Starling's."""
import math

import numpy as np

import carom

n, fraction = 10, 0.2
radius = (fraction * 3 / (4 * math.pi)) ** (1 / 3) / n
positions = (np.stack(np.meshgrid(*[np.arange(n)] * 3), -1).reshape(-1, 3) + 0.5) / n
velocities = np.random.default_rng(5).normal(size=positions.shape)
gas = carom.Gas(positions, velocities, radius, edges=[1, 1, 1], periodic=True)

gas.advance(0.5)  # forget the lattice
gas.reset_measures()
gas.advance(gas.time + 1.0)
measures = gas.measure()
expected = (1 + fraction + fraction**2 - fraction**3) / (1 - fraction) ** 3
print(f"{measures.collisions} collisions, Z = {measures.z:.3f}, by theory {expected:.3f}")

first = gas.next(gas.time + 1)
print(f"the next event: {first.kind} of {first.a} and {first.b} at {first.time:.6f}")
again = carom.Gas.from_bytes(gas.to_bytes())
print("a copy gives the same future:", again.next(9) == gas.next(9))
